/** Entry of the web app: reads the token of the link, if there is one, and mounts the app. */
import { createApp } from 'vue';
import { startAccess } from './access/access.ts';
import App from './app.vue';
import { focusRefusedFields } from './components/refused-form.ts';
import { router } from './router.ts';
import { startTheme } from './shell/window.ts';

startTheme();
focusRefusedFields(document);
// Before the router reads the address, so that the token has left it.
startAccess();
createApp(App).use(router).mount('#app');
