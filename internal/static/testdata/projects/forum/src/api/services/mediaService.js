'use strict';

const { exec, execFile } = require('child_process');
const fs = require('fs');
const path = require('path');
const config = require('../config');

const PRESETS = { small: '240', medium: '640', large: '1280' };

function transcode(upload, options, done) {
  const out = path.join(config.mediaRoot, `${upload.filename}.webm`);
  const filters = [];
  if (options.width) filters.push(`scale=${options.width}:-1`);
  if (options.mute) filters.push('volume=0');
  const line = ['ffmpeg -y -i', upload.path, '-vf', `"${filters.join(',')}"`, out].join(' ');
  exec(line, { timeout: 60000 }, (err) => done(err, path.basename(out)));
}

function poster(upload, preset, done) {
  const width = Object.hasOwn(PRESETS, preset) ? PRESETS[preset] : PRESETS.small;
  const out = path.join(config.mediaRoot, `${upload.filename}.jpg`);
  execFile('ffmpeg', ['-y', '-i', upload.path, '-frames:v', '1', '-vf', `scale=${width}:-1`, out], (err) => {
    done(err, path.basename(out));
  });
}

function openBundle(name) {
  const file = path.join(config.bundleRoot, name);
  return fs.createReadStream(file);
}

function openMedia(name) {
  const file = path.resolve(config.mediaRoot, name);
  const inside = path.relative(config.mediaRoot, file);
  if (inside.startsWith('..') || path.isAbsolute(inside)) {
    throw Object.assign(new Error('no such file'), { status: 404 });
  }
  return fs.createReadStream(file);
}

module.exports = { transcode, poster, openBundle, openMedia };
