import { createWriteStream } from 'node:fs';
import { mkdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import unzipper from 'unzipper';
import { config } from '../config';
import { HttpError } from '../middleware/errors';

const HANDBOOKS: Record<string, string> = {
  en: 'handbook-en.pdf',
  de: 'handbuch-de.pdf',
};

export class DocumentService {
  private readonly root = path.resolve(config.files.root);

  folderOf(employeeId: number): string {
    return path.join(this.root, 'employees', String(employeeId));
  }

  async read(employeeId: number, name: string): Promise<Buffer> {
    const target = path.join(this.folderOf(employeeId), name);
    return readFile(target);
  }

  async readContract(employeeId: number, name: string): Promise<Buffer> {
    const base = path.join(this.folderOf(employeeId), 'contracts');
    const target = path.resolve(base, name);
    if (!target.startsWith(base + path.sep)) {
      throw new HttpError(404, 'no such contract');
    }
    return readFile(target);
  }

  async handbook(language: string): Promise<Buffer> {
    const file = Object.hasOwn(HANDBOOKS, language) ? HANDBOOKS[language] : HANDBOOKS.en;
    return readFile(path.join(this.root, 'handbooks', file));
  }

  async remove(employeeId: number, name: string): Promise<void> {
    const base = await realpath(this.folderOf(employeeId));
    await rm(path.join(base, path.basename(name)));
  }

  async importArchive(employeeId: number, archive: string): Promise<number> {
    const base = path.join(this.folderOf(employeeId), 'import');
    const directory = await unzipper.Open.file(archive);
    let count = 0;
    for (const entry of directory.files.filter((f) => f.type === 'File')) {
      const target = path.join(base, entry.path);
      await mkdir(path.dirname(target), { recursive: true });
      await pipeline(entry.stream(), createWriteStream(target));
      count += 1;
    }
    return count;
  }

  async importCertificates(employeeId: number, archive: string): Promise<number> {
    const base = path.join(this.folderOf(employeeId), 'certificates');
    await mkdir(base, { recursive: true });
    const directory = await unzipper.Open.file(archive);
    let count = 0;
    for (const entry of directory.files) {
      const target = path.resolve(base, entry.path);
      const relative = path.relative(base, target);
      if (entry.type !== 'File' || relative.startsWith('..') || path.isAbsolute(relative)) {
        continue;
      }
      await mkdir(path.dirname(target), { recursive: true });
      await writeFile(target, await entry.buffer());
      count += 1;
    }
    return count;
  }
}

export const documentService = new DocumentService();
