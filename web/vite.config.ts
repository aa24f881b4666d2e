/**
 * Build of the web app: one folder of files with hashed names, for a bucket or the embedded cloud.
 *
 * Nothing is inlined: the content security policy allows no inline script, style or font.
 */
import { join } from 'node:path';
import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [vue()],
  define: {
    __VUE_OPTIONS_API__: false,
    __VUE_PROD_DEVTOOLS__: false,
    __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: false,
  },
  build: {
    outDir: join(import.meta.dirname, 'dist'),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    target: 'es2023',
    rolldownOptions: {
      output: {
        // Every page needs it: as one file it is smaller than as one for each module.
        codeSplitting: { groups: [{ name: 'vue', test: /\/node_modules\/(?:@vue|vue|vue-router)\// }] },
      },
    },
  },
});
