'use strict';

const crypto = require('crypto');

const KEY = Buffer.from(process.env.VAULT_KEY || '', 'hex');

function seal(text) {
  const iv = crypto.randomBytes(12);
  const cipher = crypto.createCipheriv('aes-256-gcm', KEY, iv);
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64');
}

function sealLegacy(text) {
  const cipher = crypto.createCipheriv('des-ede3-cbc', KEY.subarray(0, 24), Buffer.alloc(8));
  return cipher.update(text, 'utf8', 'base64') + cipher.final('base64');
}

function etag(content) {
  return crypto.createHash('md5').update(content).digest('hex');
}

function inviteCode() {
  return crypto.randomBytes(18).toString('base64url');
}

module.exports = { seal, sealLegacy, etag, inviteCode };
