import axios from 'axios';

let accessToken: string | null = null;

export const api = axios.create({ baseURL: '/api', withCredentials: true });

api.interceptors.request.use((request) => {
  if (accessToken) {
    request.headers.Authorization = `Bearer ${accessToken}`;
  }
  return request;
});

export async function signIn(email: string, password: string): Promise<void> {
  const answer = await api.post<{ token: string }>('/auth/sign-in', { email, password });
  accessToken = answer.data.token;
}

export async function renew(): Promise<void> {
  const answer = await api.post<{ token: string }>('/auth/renew');
  accessToken = answer.data.token;
}
