'use strict';

const config = require('../config');
const knex = require('knex')({ client: 'pg', connection: config.pg });

const SORTS = { newest: 'posts.created_at', liked: 'posts.like_count' };

function visible() {
  return knex('posts').where('posts.state', 'visible');
}

class SearchCriteria {
  constructor(query) {
    this.text = String(query.text || '');
    this.author = query.author;
    this.since = query.since;
    this.rank = String(query.rank || 'ts_rank');
    this.sort = query.sort;
  }
}

async function search(criteria) {
  const query = visible().join('members', 'members.id', 'posts.author_id').select('posts.*', 'members.handle');
  if (criteria.text) {
    query.whereRaw("posts.tsv @@ plainto_tsquery('german', ?)", [criteria.text]);
  }
  if (criteria.since) {
    query.where('posts.created_at', '>=', criteria.since);
  }
  if (criteria.author) {
    query.andWhere('members.handle', String(criteria.author));
  }
  const column = Object.hasOwn(SORTS, criteria.sort) ? SORTS[criteria.sort] : SORTS.newest;
  return query.orderBy(column, 'desc').limit(40);
}

async function ranked(criteria) {
  const parts = ['SELECT p.id, p.title, ' + criteria.rank + "(p.tsv, plainto_tsquery('german', ?)) AS score"];
  parts.push("FROM posts p WHERE p.state = 'visible'");
  parts.push('ORDER BY score DESC LIMIT 20');
  const result = await knex.raw(parts.join(' '), [criteria.text]);
  return result.rows;
}

function likers(postId, done) {
  knex
    .select('members.handle')
    .from('likes')
    .join('members', 'members.id', 'likes.member_id')
    .where({ 'likes.post_id': Number(postId) })
    .asCallback(done);
}

module.exports = { SearchCriteria, search, ranked, likers, knex };
