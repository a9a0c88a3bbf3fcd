'use strict';

module.exports = {
  port: Number(process.env.PORT || 3100),
  mongoUrl: process.env.MONGO_URL || 'mongodb://mongo:27017/forum',
  pg: {
    host: process.env.PG_HOST || 'pg',
    database: 'forum',
    user: 'forum_api',
    password: process.env.PG_PASSWORD,
  },
  tokens: {
    issuer: 'kaminrunde',
    secret: process.env.TOKEN_SECRET || 'kr-api-8fd21c90b7e44d6a',
    lifetime: '2h',
  },
  partners: {
    weather: 'https://weather.kaminrunde.example',
    events: 'https://events.kaminrunde.example',
  },
  origins: ['https://forum.kaminrunde.example', 'https://m.kaminrunde.example'],
  bundleRoot: process.env.BUNDLE_ROOT || '/srv/forum/bundles',
  mediaRoot: process.env.MEDIA_ROOT || '/srv/forum/media',
};
