/** The web app: takes the token of its link, if it has one, and shows itself. */
import { createApp } from 'vue';
import { startAccess } from './access/access.ts';
import App from './app.vue';
import { router } from './router.ts';
import { startTheme } from './shell/theme.ts';

startTheme();
// Before the router reads the address: the token is to leave it first.
startAccess();
createApp(App).use(router).mount('#app');
