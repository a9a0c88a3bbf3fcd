'use strict';

const express = require('express');
const posts = require('../repositories/postRepository');
const cleaner = require('../services/cleaner');
const webhooks = require('../services/webhookService');

const router = express.Router();

router.get('/search', async (req, res, next) => {
  try {
    res.json(await posts.search(new posts.SearchCriteria(req.query)));
  } catch (e) {
    next(e);
  }
});

router.get('/ranked', async (req, res, next) => {
  try {
    res.json(await posts.ranked(new posts.SearchCriteria(req.query)));
  } catch (e) {
    next(e);
  }
});

router.get('/:id/likers', (req, res, next) => {
  posts.likers(req.params.id, (err, rows) => {
    if (err) return next(err);
    res.json(rows.map((row) => row.handle));
  });
});

router.post('/', async (req, res, next) => {
  try {
    const body = cleaner.html(req.body.body);
    const [row] = await posts.knex('posts')
      .insert({ author_id: req.member.id, title: String(req.body.title), body_html: body, state: 'visible' })
      .returning('id');
    const hooks = await req.app.locals.mongo.collection('hooks').find({ events: 'post.created' }).toArray();
    webhooks.announce(hooks, { event: 'post.created', id: row.id });
    res.status(201).json({ id: row.id });
  } catch (e) {
    next(e);
  }
});

module.exports = router;
