import { paymentApp } from './app.ts'
import { readSettings } from './settings.ts'

const settings = readSettings(process.env)
const app = paymentApp(settings, true)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => app.close())
await app.listen({ host: '127.0.0.1', port: settings.PORT })
