import { createServer, type Server } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { freePort, isFree, isListening } from './ports.ts'

function listen(port: number): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer()
    onTestFinished(() => void server.close())
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}

test('a port that was handed out is free, and not handed out again', async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, freePort))

  expect(new Set(ports).size).toBe(50)
  for (const port of ports) expect(await isFree(port, '127.0.0.1')).toBe(true)
})

test('a port lies below those that outgoing connections use', async () => {
  expect(await freePort()).toBeLessThan(32_768)
})

test('a port in use is not free, and listens', async () => {
  const port = await freePort()
  expect(await isListening(port)).toBe(false)

  await listen(port)

  expect(await isFree(port, '127.0.0.1')).toBe(false)
  expect(await isListening(port)).toBe(true)
})
