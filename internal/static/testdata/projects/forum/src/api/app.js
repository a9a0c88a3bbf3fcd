'use strict';

const express = require('express');
const cookieParser = require('cookie-parser');
const cors = require('cors');
const helmet = require('helmet');
const { engine } = require('express-handlebars');
const { MongoClient } = require('mongodb');
const config = require('./config');
const logger = require('./lib/logger');
const { requireMember, requireRole } = require('./middleware/auth');

const app = express();
app.engine('hbs', engine({ extname: '.hbs', defaultLayout: false }));
app.engine('ejs', require('ejs').renderFile);
app.set('views', `${__dirname}/views`);
app.set('view engine', 'ejs');
app.use(helmet());
app.use(express.json({ limit: '200kb' }));
app.use(express.urlencoded({ extended: true }));
app.use(cookieParser());

app.use('/static', express.static(`${__dirname}/public`));
app.use('/public', cors({ origin: config.origins }));
app.use('/api', cors({
  origin: (origin, done) => done(null, origin || true),
  credentials: true,
}));

app.get('/public/status', (req, res) => res.json({ ok: true }));
app.use('/auth', require('./routes/auth'));
app.use('/api/posts', requireMember, require('./routes/posts'));
app.use('/api/members', requireMember, require('./routes/members'));
app.use('/api/media', requireMember, require('./routes/media'));
app.use('/api/moderation', requireMember, requireRole('moderator'), require('./routes/moderation'));
app.use('/api/hooks', require('./routes/hooks'));
app.use('/pages', require('./routes/pages'));

app.use((err, req, res, next) => {
  logger.error('request failed', { path: req.path, error: err.stack });
  if (res.headersSent) return next(err);
  res.status(err.status || 500).json({ message: 'Something went wrong', id: req.get('x-request-id') || null });
});

MongoClient.connect(config.mongoUrl).then((client) => {
  app.locals.mongo = client.db();
  app.listen(config.port, () => logger.info('listening', { port: config.port }));
});

module.exports = app;
