import { Router } from 'express';
import { knex } from '../db';
import { authenticateKiosk } from '../middleware/auth';
import { HttpError, wrap } from '../middleware/errors';
import { sensitiveLimit } from '../middleware/limits';
import { authService } from '../services/auth.service';

export const kioskRoutes = Router();

kioskRoutes.use(authenticateKiosk);

kioskRoutes.post(
  '/clock',
  sensitiveLimit,
  wrap(async (req, res) => {
    const employeeId = Number(req.body.employee);
    if (!(await authService.checkPin(employeeId, String(req.body.pin)))) {
      throw new HttpError(401, 'PIN is wrong');
    }
    await knex('clock_event').insert({ employee_id: employeeId, device: String(res.locals.device), at: knex.fn.now() });
    res.status(204).end();
  }),
);
