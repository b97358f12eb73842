import { crc32 } from 'node:zlib'

/** A PNG, as far as its signature tells. */
export const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')

/** The header of a compound file, which workbooks of Excel were until 2003. */
export const OLD_WORKBOOK = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(504)])

const SHEET = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml'

/** A workbook as Excel writes it, without its sheets. */
export const workbook = (): Buffer =>
  zip({
    '[Content_Types].xml': `<Types><Override PartName="/xl/workbook.xml" ContentType="${SHEET}"/></Types>`,
    'xl/workbook.xml': '<workbook/>',
  })

/** A zip archive of these files, not compressed. */
export function zip(files: Readonly<Record<string, string>>): Buffer {
  const entries = Object.entries(files).map(([name, content]) => entryOf(Buffer.from(name), Buffer.from(content)))
  const [bodies, directory]: [Buffer[], Buffer[]] = [[], []]
  let at = 0
  for (const { shared, name, content } of entries) {
    const local = Buffer.concat([Buffer.from('504b0304', 'hex'), shared, name, content])
    const place = Buffer.alloc(14)
    place.writeUInt32LE(at, 10)
    directory.push(Buffer.concat([Buffer.from('504b01021400', 'hex'), shared, place, name]))
    bodies.push(local)
    at += local.length
  }
  const end = Buffer.alloc(22)
  end.write('504b0506', 'hex')
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(Buffer.concat(directory).length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...bodies, ...directory, end])
}

/** A file of an archive; `shared` is the part of its header that the directory repeats. */
function entryOf(name: Buffer, content: Buffer) {
  const shared = Buffer.alloc(26)
  shared.writeUInt16LE(20, 0)
  shared.writeUInt32LE(crc32(content), 10)
  shared.writeUInt32LE(content.length, 14)
  shared.writeUInt32LE(content.length, 18)
  shared.writeUInt16LE(name.length, 22)
  return { shared, name, content }
}
