import { Router } from 'express';
import sanitizeHtml from 'sanitize-html';
import { allow } from '../middleware/auth';
import { HttpError, wrap } from '../middleware/errors';
import { Announcement } from '../models/announcement';

export const announcementRoutes = Router();

announcementRoutes.get(
  '/',
  wrap(async (req, res) => {
    const audience = String(req.query.audience ?? 'all');
    res.json(await Announcement.find({ audience: { $eq: audience } }).sort({ createdAt: -1 }).limit(30).lean());
  }),
);

announcementRoutes.post(
  '/search',
  wrap(async (req, res) => {
    const { audience, author } = req.body;
    const filter: Record<string, unknown> = { audience };
    if (author) {
      filter.authorId = author;
    }
    res.json(await Announcement.find(filter).limit(30).lean());
  }),
);

announcementRoutes.post(
  '/',
  allow('hr', 'manager'),
  wrap(async (req, res) => {
    const saved = await Announcement.create({
      title: String(req.body.title),
      body: String(req.body.body),
      audience: String(req.body.audience ?? 'all'),
      authorId: req.principal!.id,
    });
    res.status(201).json({ id: saved.id });
  }),
);

announcementRoutes.post(
  '/:id/like',
  wrap(async (req, res) => {
    await Announcement.updateOne({ _id: String(req.params.id) }, { $addToSet: { likes: req.principal!.id } });
    res.status(204).end();
  }),
);

announcementRoutes.get(
  '/:id/print',
  wrap(async (req, res) => {
    const item = await Announcement.findById(String(req.params.id)).lean();
    if (!item) {
      throw new HttpError(404, 'no such announcement');
    }
    res.render('announcement', { item, teaser: sanitizeHtml(item.body, { allowedTags: ['b', 'i', 'p'], allowedAttributes: {} }) });
  }),
);

announcementRoutes.delete(
  '/:id',
  wrap(async (req, res) => {
    await Announcement.deleteOne({ _id: String(req.params.id) });
    res.status(204).end();
  }),
);
