import { type MemberPath, unprocessable } from '@backoffice/contracts/errors.ts'
import { MAX_POSITION } from '@backoffice/contracts/fields.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import type { UpdateProductBody } from './product-input.ts'
import type { MediaRecord } from './product-view.ts'

/** An asset as a media item shows it. */
export type AssetReference = Omit<MediaRecord, 'asset' | 'position'>

/**
 * A product's media after `remove_medias`, then `medias` (spec: Update rules 4; OP-36): an asset is added, or
 * repositioned when the product shows it already; an id, with its asset or alone, is repositioned. Without a position
 * an asset goes to the end. Throws `unprocessable` for an asset the workspace does not have, for an id that is none of
 * the product's media, and for an id with the asset of another item.
 */
export function planMedia(
  current: readonly MediaRecord[],
  { medias = [], remove_medias: removals = [] }: Pick<UpdateProductBody, 'medias' | 'remove_medias'>,
  assets: readonly AssetReference[],
): MediaRecord[] {
  const media = new Map(current.map((item) => [item.id, item]))
  removals.forEach((id, index) => {
    if (!media.delete(id) && removals.indexOf(id) === index) throw noSuchMedia(['remove_medias', index], id)
  })
  const assetsById = new Map(assets.map((asset) => [asset.id, asset]))
  medias.forEach(({ asset, id: moved, position }, index) => {
    if (moved !== undefined) {
      const item = media.get(moved)
      if (item === undefined) throw noSuchMedia(['medias', index, 'id'], moved)
      if (asset !== undefined && asset !== item.asset)
        throw unprocessable(['medias', index, 'asset'], `is not the asset of the media item ${moved}; send one of both`)
      media.set(item.id, { ...item, position: position ?? item.position })
      return
    }
    const found = assetsById.get(asset ?? '')
    if (found === undefined)
      throw unprocessable(['medias', index, 'asset'], `this workspace has no asset ${asset}`, 'unknown_reference')
    const shown = [...media.values()].find((item) => item.asset === found.id)
    const last = Math.max(-1, ...[...media.values()].map((item) => item.position))
    // An asset that this request also removes keeps its media item's id: a product shows an asset once.
    const id = current.find((item) => item.asset === found.id)?.id ?? newId()
    const item = shown ?? { ...found, id, asset: found.id, position: Math.min(last + 1, MAX_POSITION) }
    media.set(item.id, { ...item, position: position ?? item.position })
  })
  if (media.size > LIMITS.mediaPerProduct)
    throw unprocessable(['medias'], `a product shows at most ${LIMITS.mediaPerProduct}`, 'limit_reached')
  return [...media.values()].toSorted((a, b) => a.position - b.position || (a.id < b.id ? -1 : 1))
}

const noSuchMedia = (path: MemberPath, id: string) =>
  unprocessable(path, `the product has no media item ${id}`, 'unknown_reference')
