import { execFileSync } from 'node:child_process'
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/*
 * `npm run build -w libs/app-sdk`: makes the package that authors of apps install, in dist. `npm pack` packs it, and
 * `npm publish` publishes it.
 */

const at = (...path: string[]) => join(import.meta.dirname, ...path)

rmSync(at('dist'), { recursive: true, force: true })
execFileSync(process.execPath, [at('src/generate-api-types.ts'), 'docs/openapi.json'])
execFileSync('tsc', ['--project', at('tsconfig.build.json')], { stdio: 'inherit' })
const { name, description, license, type, engines, dependencies } = JSON.parse(readFileSync(at('package.json'), 'utf8'))
const [, version] = /^## (\d+\.\d+\.\d+)$/m.exec(readFileSync(at('CHANGELOG.md'), 'utf8')) ?? []
const exports = {
  '.': { types: './index.d.ts', default: './index.js' },
  './app-bridge.js': { types: './app-bridge.d.ts', default: './app-bridge.js' },
}
const published = {
  name,
  version,
  description,
  license,
  type,
  engines,
  exports,
  dependencies,
  publishConfig: { access: 'public' },
}
writeFileSync(at('dist/package.json'), JSON.stringify(published, null, 2))
copyFileSync(at('../../LICENSE'), at('dist/LICENSE'))
for (const file of ['README.md', 'CHANGELOG.md']) copyFileSync(at(file), at('dist', file))
