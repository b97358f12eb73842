import { runService } from '@backoffice/service/run-service.ts'
import { ImportsConfig, importStorage } from './config.ts'
import { operations } from './operations.ts'

await runService('imports', ImportsConfig, ({ config, openPool }) => {
  const storage = importStorage(config)
  const worker = openPool('worker', { role: 'worker', poolSize: 1 })
  return { worker, operations, components: [storage] }
})
