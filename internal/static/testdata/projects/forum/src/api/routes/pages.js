'use strict';

const express = require('express');
const Handlebars = require('handlebars');
const cleaner = require('../services/cleaner');
const { knex } = require('../repositories/postRepository');

const router = express.Router();
const greeting = Handlebars.compile('Welcome {{handle}}, you have {{count}} new answers.');

router.get('/search', (req, res) => {
  res.render('search.ejs', { term: String(req.query.q || ''), tab: String(req.query.tab || 'posts') });
});

router.get('/post/:id', async (req, res, next) => {
  try {
    const post = await knex('posts').where({ id: Number(req.params.id) }).first();
    if (!post) return res.status(404).render('missing.hbs', { path: req.path, layout: false });
    res.render('post.ejs', { post: { ...post, body_html: cleaner.html(post.body_html) } });
  } catch (e) {
    next(e);
  }
});

router.get('/greeting', (req, res) => {
  res.type('text/plain').send(greeting({ handle: req.query.handle, count: Number(req.query.n) || 0 }));
});

module.exports = router;
