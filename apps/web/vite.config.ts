import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const server = 'http://localhost:8080';

export default defineConfig({
  base: '/',
  plugins: [react(), tailwind()],
  worker: { format: 'es' },
  build: {
    outDir: 'dist',
    target: 'es2022',
    // TensorFlow.js is one large chunk, loaded only by the Web Workers.
    chunkSizeWarningLimit: 4000,
  },
  server: {
    proxy: {
      '/api': server,
      '/blobs': server,
      '/parameters': server,
      '/healthz': server,
      '/socket.io': { target: server, ws: true },
    },
  },
});
