import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { Router } from 'express';
import multer from 'multer';
import { config } from '../config';
import { HttpError, wrap } from '../middleware/errors';
import { documentService } from '../services/document.service';
import { fingerprint } from '../util/crypto';

export const documentRoutes = Router();

const profileMedia = multer({
  storage: multer.diskStorage({
    destination: path.join(config.files.publicRoot, 'media'),
    filename: (_req, file, done) => done(null, `${randomUUID()}${path.extname(file.originalname)}`),
  }),
  limits: { fileSize: 8 * 1024 * 1024 },
});

const scans = multer({
  storage: multer.diskStorage({
    destination: path.join(config.files.root, 'scans'),
    filename: (_req, _file, done) => done(null, `${randomUUID()}.pdf`),
  }),
  limits: { fileSize: 8 * 1024 * 1024 },
  fileFilter: (_req, file, done) => done(null, file.mimetype === 'application/pdf'),
});

const archives = multer({ dest: '/tmp/hr-archives', limits: { fileSize: 30 * 1024 * 1024 } });

documentRoutes.get(
  '/file',
  wrap(async (req, res) => {
    const content = await documentService.read(req.principal!.id, String(req.query.name));
    res.set('ETag', fingerprint(content)).type('application/octet-stream').send(content);
  }),
);

documentRoutes.get(
  '/contract',
  wrap(async (req, res) => {
    const content = await documentService.readContract(req.principal!.id, String(req.query.name));
    res.type('application/pdf').send(content);
  }),
);

documentRoutes.get(
  '/handbook/:language',
  wrap(async (req, res) => {
    res.type('application/pdf').send(await documentService.handbook(req.params.language));
  }),
);

documentRoutes.delete(
  '/file',
  wrap(async (req, res) => {
    await documentService.remove(req.principal!.id, String(req.query.name));
    res.status(204).end();
  }),
);

documentRoutes.post('/media', profileMedia.single('file'), (req, res) => {
  res.json({ url: `/public/media/${req.file?.filename}` });
});

documentRoutes.post('/scan', scans.single('file'), (req, res) => {
  res.json({ stored: Boolean(req.file) });
});

documentRoutes.post(
  '/archive',
  archives.single('file'),
  wrap(async (req, res) => {
    if (!req.file) {
      throw new HttpError(400, 'archive is missing');
    }
    res.json({ files: await documentService.importArchive(req.principal!.id, req.file.path) });
  }),
);

documentRoutes.post(
  '/certificates',
  archives.single('file'),
  wrap(async (req, res) => {
    if (!req.file) {
      throw new HttpError(400, 'archive is missing');
    }
    res.json({ files: await documentService.importCertificates(req.principal!.id, req.file.path) });
  }),
);
