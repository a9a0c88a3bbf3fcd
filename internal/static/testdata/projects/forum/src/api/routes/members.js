'use strict';

const express = require('express');
const repository = require('../repositories/memberRepository');
const { mergeSettings, applyFlags } = require('../lib/settings');
const vault = require('../lib/vault');

const router = express.Router();

router.get('/me/inbox', (req, res, next) => {
  repository.inbox(req.app.locals.mongo, req.member.id, (err, rows) => {
    if (err) return next(err);
    res.json(rows);
  });
});

router.get('/messages/:id', (req, res, next) => {
  repository.message(req.app.locals.mongo, req.params.id, (err, row) => {
    if (err) return next(err);
    if (!row) return res.status(404).end();
    res.json(row);
  });
});

router.get('/messages/:id/receipt', (req, res, next) => {
  repository.message(req.app.locals.mongo, req.params.id, (err, row) => {
    if (err) return next(err);
    if (!row || (row.to !== req.member.id && row.from !== req.member.id)) return res.status(404).end();
    res.json({ readAt: row.readAt });
  });
});

router.post('/messages', async (req, res, next) => {
  try {
    const text = String(req.body.text);
    await req.app.locals.mongo.collection('messages').insertOne({
      from: req.member.id,
      to: String(req.body.to),
      body: req.body.legacyClient ? vault.sealLegacy(text) : vault.seal(text),
      sentAt: new Date(),
      readAt: null,
    });
    res.status(201).end();
  } catch (e) {
    next(e);
  }
});

router.patch('/me/settings', async (req, res, next) => {
  try {
    const member = await repository.byId(req.app.locals.mongo, req.member.id);
    const settings = mergeSettings(member.settings || {}, req.body);
    await repository.saveSettings(req.app.locals.mongo, req.member.id, settings);
    res.json(settings);
  } catch (e) {
    next(e);
  }
});

router.patch('/me/flags', async (req, res, next) => {
  try {
    const member = await repository.byId(req.app.locals.mongo, req.member.id);
    const settings = applyFlags(member.settings || {}, req.body);
    await repository.saveSettings(req.app.locals.mongo, req.member.id, settings);
    res.json(settings);
  } catch (e) {
    next(e);
  }
});

module.exports = router;
