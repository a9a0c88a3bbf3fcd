'use strict';

const tokens = require('../services/tokenService');

function requireMember(req, res, next) {
  const header = req.get('authorization') || '';
  const raw = header.startsWith('Bearer ') ? header.slice(7) : req.cookies.kr_token;
  if (!raw) return res.status(401).json({ message: 'Please sign in' });
  try {
    req.member = tokens.read(raw);
  } catch (e) {
    return res.status(401).json({ message: 'Please sign in again' });
  }
  next();
}

function requireRole(role) {
  return (req, res, next) => {
    if (req.member && req.member.roles.includes(role)) return next();
    res.status(403).json({ message: 'Not for you' });
  };
}

module.exports = { requireMember, requireRole };
