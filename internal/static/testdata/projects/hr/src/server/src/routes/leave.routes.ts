import { Router } from 'express';
import { body, validationResult } from 'express-validator';
import { allow } from '../middleware/auth';
import { HttpError, wrap } from '../middleware/errors';
import { leaveService } from '../services/leave.service';

export const leaveRoutes = Router();

const leaveRules = [
  body('firstDay').isISO8601({ strict: true }),
  body('days').isInt({ min: 1, max: 40 }).toInt(),
  body('comment').optional().isString().isLength({ max: 2000 }),
];

leaveRoutes.post(
  '/',
  leaveRules,
  wrap(async (req, res) => {
    if (!validationResult(req).isEmpty()) {
      throw new HttpError(400, 'check the form');
    }
    res.status(201).json(await leaveService.request(req.principal!.id, req.body));
  }),
);

leaveRoutes.post(
  '/buy',
  body('days').isInt({ min: 1, max: 5 }).toInt(),
  wrap(async (req, res) => {
    if (!validationResult(req).isEmpty()) {
      throw new HttpError(400, 'between one and five days');
    }
    await leaveService.buyDays(req.principal!.id, req.body.days);
    res.status(204).end();
  }),
);

leaveRoutes.get(
  '/calendar',
  allow('manager', 'hr'),
  wrap(async (req, res) => {
    res.json(await leaveService.calendar(req.principal!.id, String(req.query.month)));
  }),
);

leaveRoutes.get(
  '/:id/comment',
  wrap(async (req, res) => {
    res.json(await leaveService.comment(Number(req.params.id), req.principal!));
  }),
);

leaveRoutes.post(
  '/:id/withdraw',
  wrap(async (req, res) => {
    await leaveService.withdraw(Number(req.params.id), req.principal!);
    res.status(204).end();
  }),
);

leaveRoutes.post(
  '/:id/decision',
  allow('manager', 'hr'),
  wrap(async (req, res) => {
    const state = req.body.state === 'approved' ? 'approved' : 'refused';
    await leaveService.decide(Number(req.params.id), state, req.principal!, String(req.body.note ?? ''));
    res.status(204).end();
  }),
);
