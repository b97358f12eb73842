import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import * as sdk from './index.ts'

it('has its functions in the changelog', () => {
  const changelog = readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8')
  for (const name of Object.keys(sdk)) expect(changelog).toContain(`\`${name}\``)
})
