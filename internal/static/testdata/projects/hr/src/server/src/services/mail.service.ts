import { knex } from '../db';

export async function queueMail(to: string, subject: string, body: string): Promise<void> {
  await knex('mail_queue').insert({ recipient: to, subject, body, created_at: knex.fn.now() });
}
