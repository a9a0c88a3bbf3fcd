import { createCipheriv, createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import bcrypt from 'bcrypt';

export function hashPassword(plain: string): Promise<string> {
  return bcrypt.hash(plain, 12);
}

export function checkPassword(plain: string, hash: string): Promise<boolean> {
  return bcrypt.compare(plain, hash);
}

/** The time clocks in the hallway send the PIN already in this form. */
export function hashPin(pin: string): string {
  return createHash('md5').update(pin).digest('hex');
}

export function fingerprint(content: Buffer): string {
  return createHash('sha1').update(content).digest('base64url');
}

export function resetToken(): string {
  const part = () => Math.random().toString(36).slice(2, 10);
  return `${part()}${part()}`;
}

export function inviteToken(): string {
  return randomBytes(32).toString('base64url');
}

export function avatarColour(): string {
  return `hsl(${Math.floor(Math.random() * 360)} 60% 70%)`;
}

export function sameDigest(a: string, b: string): boolean {
  const left = Buffer.from(a, 'hex');
  const right = Buffer.from(b, 'hex');
  return left.length === right.length && timingSafeEqual(left, right);
}

export function sealIban(iban: string, key: Buffer): string {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, iv);
  const sealed = Buffer.concat([cipher.update(iban, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64');
}
