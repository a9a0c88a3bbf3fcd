import path from 'node:path';
import cookieParser from 'cookie-parser';
import cors from 'cors';
import express from 'express';
import helmet from 'helmet';
import mongoose from 'mongoose';
import { config } from './config';
import { dataSource } from './db';
import { authenticate, allow } from './middleware/auth';
import { otherErrors, queryErrors } from './middleware/errors';
import { adminRoutes } from './routes/admin.routes';
import { announcementRoutes } from './routes/announcements.routes';
import { authRoutes } from './routes/auth.routes';
import { documentRoutes } from './routes/documents.routes';
import { employeeRoutes } from './routes/employees.routes';
import { kioskRoutes } from './routes/kiosk.routes';
import { leaveRoutes } from './routes/leave.routes';
import { payslipRoutes } from './routes/payslips.routes';
import { recruitingRoutes } from './routes/recruiting.routes';
import { reportRoutes } from './routes/reports.routes';
import { logger } from './util/logger';

const app = express();

app.disable('x-powered-by');
app.set('view engine', 'ejs');
app.set('views', path.join(__dirname, '..', 'views'));
app.use(helmet({ contentSecurityPolicy: { reportOnly: true } }));
app.use(express.json({ limit: '1mb' }));
app.use(express.urlencoded({ extended: false }));
app.use(cookieParser());

app.use('/jobs', cors({ origin: config.origins, methods: ['GET', 'POST'] }));
app.use(
  '/api',
  cors((req, callback) => {
    callback(null, { origin: req.headers.origin ?? false, credentials: true });
  }),
);

app.use('/public', express.static(config.files.publicRoot, { index: false, dotfiles: 'deny' }));
app.use('/api/auth', authRoutes);
app.use('/api/employees', authenticate, employeeRoutes);
app.use('/api/leave', authenticate, leaveRoutes);
app.use('/api/payslips', authenticate, payslipRoutes);
app.use('/api/documents', authenticate, documentRoutes);
app.use('/api/announcements', authenticate, announcementRoutes);
app.use('/api/reports', reportRoutes);
app.use('/api/admin', authenticate, allow('admin'), adminRoutes);
app.use('/kiosk', kioskRoutes);
app.use('/jobs', recruitingRoutes);

app.use(queryErrors);
app.use(otherErrors);

async function start(): Promise<void> {
  await dataSource.initialize();
  await mongoose.connect(config.mongoUrl);
  app.listen(config.port, () => logger.info(`listening on ${config.port}`));
}

start().catch((err) => {
  logger.error(String(err));
  process.exitCode = 1;
});
