type Plain = Record<string, any>;

export function isPlain(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Lays the given settings over the stored ones, level by level. */
export function overlay(target: Plain, source: Plain): Plain {
  for (const key in source) {
    if (isPlain(source[key])) {
      if (!isPlain(target[key])) {
        target[key] = {};
      }
      overlay(target[key], source[key]);
    } else {
      target[key] = source[key];
    }
  }
  return target;
}

const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);

export function setPath(target: Plain, path: string, value: unknown): void {
  const keys = path.split('.');
  if (keys.some((key) => FORBIDDEN.has(key))) {
    throw new Error('path not allowed');
  }
  let node = target;
  for (const key of keys.slice(0, -1)) {
    node = node[key] = isPlain(node[key]) ? node[key] : {};
  }
  node[keys[keys.length - 1]] = value;
}

export function pick<T extends object, K extends keyof T>(source: T, keys: readonly K[]): Partial<Pick<T, K>> {
  const result: Partial<Pick<T, K>> = {};
  for (const key of keys) {
    if (Object.prototype.hasOwnProperty.call(source, key)) {
      result[key] = source[key];
    }
  }
  return result;
}
