import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Router } from 'express';
import { config } from '../config';
import { allow } from '../middleware/auth';
import { wrap } from '../middleware/errors';
import { DirectoryQuery, employeeService } from '../services/employee.service';
import { integrationService } from '../services/integration.service';
import { renderCertificate, renderLetter, fillPlaceholders } from '../services/letter.service';

export const employeeRoutes = Router();

employeeRoutes.get(
  '/',
  wrap(async (req, res) => {
    const query: DirectoryQuery = {
      name: req.query.name as string | undefined,
      sort: req.query.sort as string | undefined,
      page: Number(req.query.page) || 0,
    };
    res.json(await employeeService.directory(query));
  }),
);

employeeRoutes.get(
  '/suggest',
  wrap(async (req, res) => {
    res.json(await employeeService.suggest(String(req.query.q ?? '')));
  }),
);

employeeRoutes.get(
  '/team',
  wrap(async (req, res) => {
    const ids = String(req.query.ids ?? '').split(',').map(Number).filter(Number.isInteger);
    const people = await employeeService.byIds(ids);
    res.json(people.map((p) => ({ id: p.id, name: p.displayName })));
  }),
);

employeeRoutes.patch(
  '/me',
  wrap(async (req, res) => {
    const saved = await employeeService.updateSelf(req.principal!.id, req.body);
    res.json({ id: saved.id, displayName: saved.displayName, phone: saved.phone });
  }),
);

employeeRoutes.post(
  '/me/onboarding',
  wrap(async (req, res) => {
    const saved = await employeeService.completeOnboarding(req.principal!.id, req.body);
    res.json({ id: saved.id });
  }),
);

employeeRoutes.put(
  '/me/preferences',
  wrap(async (req, res) => {
    res.json(await employeeService.savePreferences(req.principal!.id, req.body));
  }),
);

employeeRoutes.post(
  '/me/picture',
  wrap(async (req, res) => {
    const picture = await integrationService.fetchPicture(req.body);
    const folder = path.join(config.files.root, 'pictures');
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, `${req.principal!.id}.jpg`), picture);
    res.status(204).end();
  }),
);

employeeRoutes.post(
  '/me/avatar',
  wrap(async (req, res) => {
    const picture = await integrationService.fetchAvatar(String(req.body.link));
    res.type('image/jpeg').send(picture);
  }),
);

employeeRoutes.get(
  '/:id/card',
  wrap(async (req, res) => {
    const { id, displayName, email, about } = await employeeService.profile(Number(req.params.id));
    res.json({ id, displayName, email, about });
  }),
);

employeeRoutes.get(
  '/:id/salary',
  wrap(async (req, res) => {
    res.json({ salary: await employeeService.salaryOf(Number(req.params.id), req.principal!) });
  }),
);

employeeRoutes.post(
  '/:id/letter',
  allow('hr', 'manager'),
  wrap(async (req, res) => {
    const employee = await employeeService.profile(Number(req.params.id));
    res.type('html').send(renderLetter(req.body, employee));
  }),
);

employeeRoutes.post(
  '/me/letter-text',
  wrap(async (req, res) => {
    const employee = await employeeService.profile(req.principal!.id);
    res.type('text/plain').send(fillPlaceholders(String(req.body.text), employee));
  }),
);

employeeRoutes.get(
  '/me/certificate',
  wrap(async (req, res) => {
    const employee = await employeeService.profile(req.principal!.id);
    res.type('html').send(await renderCertificate(employee, String(req.query.purpose ?? '')));
  }),
);

employeeRoutes.get(
  '/holidays/:country',
  wrap(async (req, res) => {
    res.json(await integrationService.holidays(req.params.country, new Date().getFullYear()));
  }),
);
