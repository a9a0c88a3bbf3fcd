import express, { Router } from 'express';
import { wrap } from '../middleware/errors';
import { allowance, bonus, readShiftPlan, readTimesheet } from '../services/import.service';
import { queueMail } from '../services/mail.service';
import { config } from '../config';
import { inviteToken } from '../util/crypto';
import { setPath } from '../util/objects';

export const adminRoutes = Router();

const settings: Record<string, unknown> = {};

adminRoutes.post('/bonus', (req, res) => {
  const { rule, base, years } = req.body;
  res.json({ amount: bonus(rule, { base: Number(base), years: Number(years) }) });
});

adminRoutes.post('/allowance', (req, res) => {
  res.json({ amount: allowance(String(req.body.operation), Number(req.body.a), Number(req.body.b)) });
});

adminRoutes.post('/shift-plan', express.text({ type: 'application/yaml' }), (req, res) => {
  res.json({ keys: Object.keys(readShiftPlan(String(req.body)) ?? {}) });
});

adminRoutes.post('/timesheet', express.text({ type: 'application/xml' }), (req, res) => {
  res.json({ entries: readTimesheet(String(req.body)) });
});

adminRoutes.put('/settings', (req, res) => {
  setPath(settings, String(req.body.path), req.body.value);
  res.json(settings);
});

adminRoutes.post(
  '/invite',
  wrap(async (req, res) => {
    await queueMail(String(req.body.email), 'Welcome', `${config.publicUrl}/join?token=${inviteToken()}`);
    res.status(204).end();
  }),
);
