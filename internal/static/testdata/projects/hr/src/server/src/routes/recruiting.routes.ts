import express, { Router } from 'express';
import { knex } from '../db';
import { wrap } from '../middleware/errors';
import { sensitiveLimit } from '../middleware/limits';
import { readResume } from '../services/import.service';

export const recruitingRoutes = Router();

function escapeHtml(value: string): string {
  return value
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/"/g, '&quot;')
    .replace(/'/g, '&#39;');
}

function page(title: string, content: string): string {
  return `<!DOCTYPE html><html><head><title>${title}</title></head><body>${content}</body></html>`;
}

recruitingRoutes.get(
  '/',
  wrap(async (req, res) => {
    const q = String(req.query.q ?? '');
    const rows = await knex('job').where('open', true).andWhere('title', 'ilike', `%${q}%`).limit(50);
    const items = rows.map((row) => `<li>${escapeHtml(row.title)}</li>`).join('');
    const heading = rows.length > 0 ? `<h2>${rows.length} jobs</h2>` : `<h2>No jobs for ${q}</h2>`;
    res.send(page('Jobs', `${heading}<ul>${items}</ul>`));
  }),
);

recruitingRoutes.get(
  '/thanks',
  wrap(async (req, res) => {
    const name = escapeHtml(String(req.query.name ?? 'applicant'));
    res.send(page('Thank you', `<p>Thank you, ${name}. We will write to you.</p>`));
  }),
);

recruitingRoutes.post(
  '/:id/apply',
  sensitiveLimit,
  express.text({ type: 'application/xml', limit: '500kb' }),
  wrap(async (req, res) => {
    const applicant = readResume(String(req.body));
    const [row] = await knex('application')
      .insert({ job_id: Number(req.params.id), name: applicant.name, skills: JSON.stringify(applicant.skills) })
      .returning('name');
    res.status(201).json({ received: row.name });
  }),
);
