import { defineConfig } from 'vite'

/** The gateway serves what this builds, under /console and with a policy that allows no inline script. */
export default defineConfig({
  base: '/console/',
  build: {
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      // Libraries mark files for servers that render React. There is none here.
      onLog: (level, log, warn) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && warn(level, log),
    },
  },
})
