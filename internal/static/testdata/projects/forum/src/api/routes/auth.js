'use strict';

const express = require('express');
const rateLimit = require('express-rate-limit');
const bcrypt = require('bcrypt');
const memberRepository = require('../repositories/memberRepository');
const tokens = require('../services/tokenService');
const { localPath } = require('../lib/safeUrl');
const logger = require('../lib/logger');

const router = express.Router();
const loginLimit = rateLimit({ windowMs: 15 * 60 * 1000, limit: 10 });

function startSession(res, member) {
  res.cookie('kr_token', tokens.issue(member), { httpOnly: true, secure: true, sameSite: 'lax', maxAge: 7200000 });
}

router.post('/login', loginLimit, async (req, res, next) => {
  try {
    const member = await memberRepository.findForLogin(req.app.locals.mongo, String(req.body.handle));
    if (!member || !(await bcrypt.compare(String(req.body.password), member.passwordHash))) {
      logger.info('login refused', { handle: String(req.body.handle) });
      return res.status(403).json({ message: 'Handle or password is wrong' });
    }
    startSession(res, member);
    res.redirect(localPath(req.body.next));
  } catch (e) {
    next(e);
  }
});

router.post('/mobile', (req, res, next) => {
  try {
    const member = tokens.readMobile(req.body.token);
    res.cookie('kr_token', tokens.issue(member), { maxAge: 7200000, path: '/' });
    res.status(204).end();
  } catch (e) {
    next(e);
  }
});

router.post('/device', loginLimit, async (req, res, next) => {
  const members = req.app.locals.mongo.collection('members');
  const { handle, pin } = req.body;
  try {
    const member = await members.findOne({ handle, devicePin: pin });
    if (!member) return res.status(403).end();
    startSession(res, member);
    res.json({ handle: member.handle });
  } catch (e) {
    next(e);
  }
});

module.exports = router;
