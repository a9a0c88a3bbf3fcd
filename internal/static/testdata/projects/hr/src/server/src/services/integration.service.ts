import https from 'node:https';
import axios from 'axios';
import { config } from '../config';
import { HttpError } from '../middleware/errors';

const AVATAR_HOSTS = new Set(['avatars.brightholm.example', 'cdn.brightholm.example']);

const payrollAgent = new https.Agent({
  keepAlive: true,
  rejectUnauthorized: false,
});

const strictAgent = new https.Agent({ keepAlive: true, minVersion: 'TLSv1.2' });

export class IntegrationService {
  async payrollStatus(employeeId: number): Promise<unknown> {
    const answer = await axios.get(`https://${config.payroll.host}/v1/people/${employeeId}`, {
      httpsAgent: payrollAgent,
      headers: { 'x-api-key': config.payroll.key },
    });
    return answer.data;
  }

  /** Takes the picture of an applicant or employee from a link. */
  async fetchPicture(source: { link: string }): Promise<Buffer> {
    const answer = await axios.get<ArrayBuffer>(source.link, { responseType: 'arraybuffer', timeout: 5000 });
    return Buffer.from(answer.data);
  }

  async fetchAvatar(link: string): Promise<Buffer> {
    const url = new URL(link);
    if (url.protocol !== 'https:' || !AVATAR_HOSTS.has(url.hostname)) {
      throw new HttpError(400, 'picture host is not supported');
    }
    const answer = await axios.get<ArrayBuffer>(url.href, {
      httpsAgent: strictAgent,
      responseType: 'arraybuffer',
      maxRedirects: 0,
    });
    return Buffer.from(answer.data);
  }

  async holidays(country: string, year: number): Promise<unknown> {
    const answer = await axios.get(`https://holidays.brightholm.example/${encodeURIComponent(country)}/${year}`);
    return answer.data;
  }
}

export const integrationService = new IntegrationService();
