'use strict';

const express = require('express');
const { knex } = require('../repositories/postRepository');
const logger = require('../lib/logger');

const router = express.Router();

router.get('/queue', async (req, res, next) => {
  try {
    const rows = await knex('reports').where({ state: 'open' }).orderBy('created_at').limit(100);
    res.json(rows);
  } catch (e) {
    next(e);
  }
});

router.post('/queue/:id/close', async (req, res, next) => {
  try {
    const changed = await knex('reports')
      .where({ id: Number(req.params.id), state: 'open' })
      .update({ state: 'closed', closed_by: req.member.id });
    logger.info('report closed', { id: Number(req.params.id), by: req.member.id });
    res.status(changed ? 204 : 409).end();
  } catch (e) {
    next(e);
  }
});

module.exports = router;
