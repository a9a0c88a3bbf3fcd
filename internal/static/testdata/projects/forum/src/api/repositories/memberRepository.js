'use strict';

const { ObjectId } = require('mongodb');

function findForLogin(db, handle) {
  return db.collection('members').findOne({ handle: { $eq: handle } });
}

function byId(db, id) {
  return db.collection('members').findOne({ _id: new ObjectId(String(id)) }, { projection: { passwordHash: 0, devicePin: 0 } });
}

function inbox(db, memberId, callback) {
  db.collection('messages')
    .find({ to: memberId })
    .sort({ sentAt: -1 })
    .limit(100)
    .toArray()
    .then((rows) => callback(null, rows), callback);
}

function message(db, id, callback) {
  db.collection('messages')
    .findOne({ _id: new ObjectId(String(id)) })
    .then((row) => callback(null, row), callback);
}

function saveSettings(db, id, settings) {
  return db.collection('members').updateOne({ _id: new ObjectId(String(id)) }, { $set: { settings } });
}

module.exports = { findForLogin, byId, inbox, message, saveSettings };
