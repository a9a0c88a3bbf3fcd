import winston from 'winston';

export const logger = winston.createLogger({
  level: process.env.LOG_LEVEL ?? 'info',
  format: winston.format.printf(({ level, message }) => `${new Date().toISOString()} ${level} ${message}`),
  transports: [new winston.transports.Console(), new winston.transports.File({ filename: '/var/log/hrportal/app.log' })],
});

export function oneLine(value: unknown): string {
  return String(value).replace(/[^\x20-\x7e]/g, '_').slice(0, 200);
}
