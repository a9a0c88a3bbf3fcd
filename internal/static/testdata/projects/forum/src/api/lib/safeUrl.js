'use strict';

const dns = require('dns').promises;
const ipaddr = require('ipaddr.js');

async function resolvePublic(raw) {
  const url = new URL(raw);
  if (url.protocol !== 'https:') throw Object.assign(new Error('https only'), { status: 422 });
  const { address } = await dns.lookup(url.hostname);
  if (ipaddr.process(address).range() !== 'unicast') {
    throw Object.assign(new Error('address not allowed'), { status: 422 });
  }
  return { url, address };
}

function localPath(target) {
  const base = 'https://forum.kaminrunde.example';
  let parsed;
  try {
    parsed = new URL(target || '/', base);
  } catch (e) {
    return '/';
  }
  if (parsed.origin !== base) return '/';
  const path = parsed.pathname.replace(/^\/+/, '/');
  return path + parsed.search;
}

module.exports = { resolvePublic, localPath };
