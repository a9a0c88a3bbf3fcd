import { randomUUID } from 'node:crypto';
import { ErrorRequestHandler, NextFunction, Request, RequestHandler, Response } from 'express';
import { QueryFailedError } from 'typeorm';
import { logger, oneLine } from '../util/logger';

export function wrap(handler: (req: Request, res: Response) => Promise<unknown>): RequestHandler {
  return (req: Request, res: Response, next: NextFunction) => {
    handler(req, res).catch(next);
  };
}

export class HttpError extends Error {
  constructor(public readonly status: number, message: string) {
    super(message);
  }
}

export const queryErrors: ErrorRequestHandler = (err, _req, res, next) => {
  if (!(err instanceof QueryFailedError)) {
    next(err);
    return;
  }
  res.status(500).json({ error: err.message, query: err.query, stack: err.stack });
};

export const otherErrors: ErrorRequestHandler = (err, req, res, _next) => {
  if (err instanceof HttpError) {
    res.status(err.status).json({ error: err.message });
    return;
  }
  const ticket = randomUUID();
  logger.error(`${ticket} ${oneLine(req.path)} ${err?.stack}`);
  res.status(500).json({ error: 'internal error', ticket });
};
