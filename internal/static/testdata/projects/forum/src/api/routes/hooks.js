'use strict';

const express = require('express');
const yaml = require('js-yaml');
const { requireMember, requireRole } = require('../middleware/auth');
const webhooks = require('../services/webhookService');

const router = express.Router();

router.get('/', requireMember, requireRole('admin'), async (req, res, next) => {
  try {
    res.json(await req.app.locals.mongo.collection('hooks').find({}).toArray());
  } catch (e) {
    next(e);
  }
});

router.post('/import', requireMember, requireRole('admin'), express.text({ type: 'text/yaml' }), async (req, res, next) => {
  try {
    const doc = yaml.load(req.body, { schema: yaml.JSON_SCHEMA });
    const hooks = (doc.hooks || []).map((hook) => ({ name: String(hook.name), target: String(hook.target), events: [].concat(hook.events) }));
    await req.app.locals.mongo.collection('hooks').insertMany(hooks);
    res.status(201).json({ added: hooks.length });
  } catch (e) {
    next(e);
  }
});

router.delete('/:name', async (req, res, next) => {
  try {
    await req.app.locals.mongo.collection('hooks').deleteOne({ name: req.params.name });
    res.status(204).end();
  } catch (e) {
    next(e);
  }
});

router.get('/partner/:name', requireMember, async (req, res, next) => {
  try {
    res.json(await webhooks.partner(req.params.name, String(req.query.path || 'latest')));
  } catch (e) {
    next(e);
  }
});

module.exports = router;
