import { defineConfig } from 'vite'

const AREA = /console\/src\/(\w+)\//

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
      // Small files compress badly: the pages of an area are one file, and what they share is another.
      output: {
        codeSplitting: {
          groups: [
            { name: 'shared', test: /node_modules|console\/src\/(?:api|parts|session)\//, priority: 1 },
            { name: (id) => AREA.exec(id)?.[1] ?? null, debugName: 'area', test: AREA },
          ],
        },
      },
    },
  },
})
