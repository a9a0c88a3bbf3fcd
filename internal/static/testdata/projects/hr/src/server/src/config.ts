function required(name: string): string {
  const value = process.env[name];
  if (!value) {
    throw new Error(`missing environment variable ${name}`);
  }
  return value;
}

export const config = {
  port: Number(process.env.PORT ?? 4100),
  publicUrl: process.env.PUBLIC_URL ?? 'https://people.brightholm.example',
  database: {
    host: process.env.DB_HOST ?? 'localhost',
    user: process.env.DB_USER ?? 'hrportal',
    password: required('DB_PASSWORD'),
    name: 'hrportal',
  },
  mongoUrl: process.env.MONGO_URL ?? 'mongodb://localhost:27017/hrnews',
  jwt: {
    accessSecret: required('JWT_ACCESS_SECRET'),
    refreshSecret: process.env.JWT_REFRESH_SECRET || 'bh-refresh-7Yk2vQ91mZs',
    accessMinutes: 15,
    refreshDays: 30,
  },
  files: {
    root: process.env.FILE_ROOT ?? '/var/lib/hrportal',
    publicRoot: '/srv/hrportal/public',
  },
  payroll: {
    host: process.env.PAYROLL_HOST ?? 'payroll.brightholm.example',
    key: required('PAYROLL_KEY'),
  },
  origins: ['https://people.brightholm.example', 'https://intranet.brightholm.example'],
};
