import { Router } from 'express';
import { authenticate } from '../middleware/auth';
import { wrap } from '../middleware/errors';
import { sensitiveLimit } from '../middleware/limits';
import { authService } from '../services/auth.service';

export const authRoutes = Router();

authRoutes.post(
  '/sign-in',
  wrap(async (req, res) => {
    const employee = await authService.signIn(req.body);
    res.cookie('hr_refresh', authService.refreshToken(employee), {
      path: '/api/auth',
      sameSite: 'strict',
      maxAge: 30 * 24 * 3600 * 1000,
    });
    res.json({ token: authService.accessToken(employee), role: employee.role });
  }),
);

authRoutes.post(
  '/renew',
  wrap(async (req, res) => {
    res.json({ token: await authService.renew(String(req.cookies.hr_refresh ?? '')) });
  }),
);

authRoutes.post(
  '/forgot',
  sensitiveLimit,
  wrap(async (req, res) => {
    await authService.startReset(req.body.email);
    res.status(204).end();
  }),
);

authRoutes.post(
  '/reset',
  sensitiveLimit,
  wrap(async (req, res) => {
    await authService.finishReset(req.body.token, req.body.password);
    res.status(204).end();
  }),
);

authRoutes.post(
  '/pin',
  authenticate,
  wrap(async (req, res) => {
    await authService.setPin(req.principal!.id, String(req.body.pin));
    res.status(204).end();
  }),
);

authRoutes.post('/theme', (req, res) => {
  const theme = req.body.theme === 'dark' ? 'dark' : 'light';
  res.cookie('hr_theme', theme, { httpOnly: true, secure: true, sameSite: 'lax' });
  res.status(204).end();
});

authRoutes.get('/leave-portal', (req, res) => {
  const target = typeof req.query.to === 'string' ? req.query.to : '/';
  res.clearCookie('hr_refresh', { path: '/api/auth' });
  res.redirect(target);
});

const LANDING: Record<string, string> = { leave: '/leave', pay: '/payslips' };

authRoutes.get('/landing', (req, res) => {
  const key = String(req.query.area ?? '');
  res.redirect(Object.hasOwn(LANDING, key) ? LANDING[key] : '/');
});
