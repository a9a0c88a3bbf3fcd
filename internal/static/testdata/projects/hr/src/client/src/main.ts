import { createApp } from 'vue';
import { createRouter, createWebHistory } from 'vue-router';
import App from './App.vue';
import AnnouncementList from './components/AnnouncementList.vue';
import EmployeeCard from './components/EmployeeCard.vue';
import { renew } from './api';

const router = createRouter({
  history: createWebHistory(),
  routes: [
    { path: '/', component: AnnouncementList },
    { path: '/people/:id', component: EmployeeCard, props: true },
  ],
});

function showNotice(): void {
  const box = document.getElementById('notice');
  const params = new URLSearchParams(window.location.search);
  const text = params.get('notice');
  if (box && text) {
    box.innerHTML = `<strong>${text}</strong>`;
  }
}

function showVersion(): void {
  const box = document.getElementById('version');
  if (box) {
    box.textContent = new URLSearchParams(window.location.search).get('v') ?? '';
  }
}

window.addEventListener('message', (event: MessageEvent) => {
  if (event.origin !== 'https://intranet.brightholm.example') {
    return;
  }
  if (event.data?.type === 'open-leave') {
    void router.push('/leave');
  }
});

renew()
  .catch(() => undefined)
  .finally(() => {
    createApp(App).use(router).mount('#app');
    showNotice();
    showVersion();
  });
