'use strict';

function isObject(value) {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function mergeSettings(target, patch) {
  for (const key of Object.keys(patch)) {
    if (isObject(patch[key])) {
      if (!isObject(target[key])) target[key] = {};
      mergeSettings(target[key], patch[key]);
    } else {
      target[key] = patch[key];
    }
  }
  return target;
}

const FLAGS = new Set(['emailDigest', 'darkMode', 'compactList']);

function applyFlags(target, patch) {
  for (const [key, value] of Object.entries(patch)) {
    if (FLAGS.has(key)) {
      target[key] = Boolean(value);
    }
  }
  return target;
}

module.exports = { mergeSettings, applyFlags };
