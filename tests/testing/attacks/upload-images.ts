import { randomBytes } from 'node:crypto'
import { crc32, deflateSync } from 'node:zlib'
import type { Attack } from './attack.ts'
import { startClients } from './clients.ts'
import { uploadOf } from './upload-of.ts'

const CLIENTS = 20
/** Just below the largest image: 49 megapixels. */
const SIDE = 7000

/** Uploads large images, twenty at a time. */
export const uploadLargeImages: Attack = async ({ attacker }) => {
  const upload = uploadOf(largePng(), 'large.png')
  return startClients(CLIENTS, () => attacker.call('POST', '/v1/assets', upload))
}

/** A grey PNG whose rows are alike, so that the file is small and its work is not. */
function largePng(): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(SIDE, 0)
  header.writeUInt32BE(SIDE, 4)
  header.set([8, 0], 8) // eight bits a pixel, grey
  const row = Buffer.concat([Buffer.alloc(1), randomBytes(SIDE)])
  const rows = deflateSync(Buffer.concat(Array<Buffer>(SIDE).fill(row)), { level: 1 })
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, check])
}
