'use strict';

const crypto = require('crypto');
const express = require('express');
const multer = require('multer');
const media = require('../services/mediaService');

const router = express.Router();
const upload = multer({
  storage: multer.diskStorage({
    destination: '/srv/forum/incoming',
    filename: (req, file, done) => done(null, crypto.randomUUID()),
  }),
  limits: { fileSize: 30 * 1024 * 1024 },
  fileFilter: (req, file, done) => done(null, ['video/mp4', 'video/webm'].includes(file.mimetype)),
});

router.post('/clips', upload.single('clip'), (req, res, next) => {
  if (!req.file) return res.status(422).json({ message: 'A video, please' });
  media.transcode(req.file, { width: req.body.width, mute: req.body.mute === '1' }, (err, name) => {
    if (err) return next(err);
    media.poster(req.file, req.body.preset, (failed, poster) => {
      if (failed) return next(failed);
      res.status(201).json({ name, poster });
    });
  });
});

router.get('/clips/:name', (req, res, next) => {
  try {
    media.openMedia(req.params.name).on('error', next).pipe(res.type('video/webm'));
  } catch (e) {
    next(e);
  }
});

router.get('/bundle', (req, res, next) => {
  res.attachment('bundle.tar');
  media.openBundle(String(req.query.name)).on('error', next).pipe(res);
});

module.exports = router;
