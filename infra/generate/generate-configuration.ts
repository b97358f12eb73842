import { writeFileSync } from 'node:fs'
import { configurationDocument } from './configuration-document.ts'

/* `npm run generate:configuration`: writes docs/configuration.md from the settings of the services and the jobs. */

writeFileSync(new URL('../../docs/configuration.md', import.meta.url), configurationDocument())
