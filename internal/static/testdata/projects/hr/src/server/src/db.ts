import 'reflect-metadata';
import knexFactory, { Knex } from 'knex';
import { DataSource } from 'typeorm';
import { config } from './config';
import { Employee } from './entities/Employee';
import { LeaveRequest } from './entities/LeaveRequest';
import { Payslip } from './entities/Payslip';

export const dataSource = new DataSource({
  type: 'postgres',
  host: config.database.host,
  username: config.database.user,
  password: config.database.password,
  database: config.database.name,
  entities: [Employee, LeaveRequest, Payslip],
  synchronize: false,
});

export const knex: Knex = knexFactory({
  client: 'pg',
  connection: {
    host: config.database.host,
    user: config.database.user,
    password: config.database.password,
    database: config.database.name,
  },
  pool: { min: 1, max: 8 },
});
