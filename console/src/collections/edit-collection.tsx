import { api, bodyOf, type Tagged } from '../api/client.ts'
import { Edit, type Field } from '../parts/edit.tsx'
import { isoOf, LOCAL_TIME, localOf } from '../parts/filters.tsx'
import type { Texts } from '../parts/save-typed.ts'
import { type Collection, SORT_ORDERS, useCollections } from './collection.tsx'

const timeField = (name: string, label: string, at: string | null | undefined, hint: string): Field => ({
  name,
  label,
  value: localOf(at),
  input: LOCAL_TIME,
  hint,
})

const shownFields = ({ published, publish_at, unpublish_at }: Collection): readonly Field[] => [
  {
    name: 'published',
    label: 'Shown in shops',
    value: String(published),
    options: [
      ['true', 'yes, within the times below'],
      ['false', 'no, it is a draft'],
    ],
  },
  timeField('publish_at', 'From', publish_at, 'Empty for at once.'),
  timeField('unpublish_at', 'Until', unpublish_at, 'Empty for ever.'),
]

/** Whether it is shown, and when, only those change who see it. */
export const fieldsOf = (collection: Collection): readonly Field[] => [
  { name: 'name', label: 'Name', value: collection.name, input: { required: true, maxLength: 255 } },
  ...(collection.published === undefined ? [] : shownFields(collection)),
  { name: 'sort_order', label: 'Order of the products', value: collection.sort_order, options: SORT_ORDERS },
  { name: 'handle', label: 'In URLs', value: collection.handle, input: { required: true, maxLength: 255 } },
  {
    name: 'description',
    label: 'Description',
    value: collection.description ?? '',
    isLong: true,
    input: { maxLength: 65536 },
  },
  {
    name: 'seo_title',
    label: 'Title for search engines',
    value: collection.seo_title ?? '',
    input: { maxLength: 255 },
  },
]

function membersOf(changed: Texts) {
  const { name, handle, description, published, publish_at, unpublish_at, sort_order, seo_title } = changed
  return {
    ...(name !== undefined && { name }),
    ...(handle !== undefined && { handle }),
    ...(description !== undefined && { description: description || null }),
    ...(published !== undefined && { published: published === 'true' }),
    ...(publish_at !== undefined && { publish_at: isoOf(publish_at) || null }),
    ...(unpublish_at !== undefined && { unpublish_at: isoOf(unpublish_at) || null }),
    ...(sort_order !== undefined && { sort_order: sort_order as (typeof SORT_ORDERS)[number][0] }),
    ...(seo_title !== undefined && { seo: { title: seo_title || null } }),
  }
}

interface EditCollectionProps {
  readonly of: Tagged<Collection>
  readonly onClose: () => void
}

/** The form of a collection, without its rules and products. */
export function EditCollection({ of, onClose }: EditCollectionProps) {
  const { one } = useCollections()
  const { id } = of.body
  return (
    <Edit
      title="Edit collection"
      of={of}
      fieldsOf={fieldsOf}
      read={() => one(id)}
      save={({ changed }, tag) =>
        bodyOf(
          api.PUT('/v1/collections/{handle}', {
            params: { path: { handle: id } },
            headers: { 'if-match': tag },
            body: membersOf(changed),
          }),
        )
      }
      done="The collection is saved."
      changes={['collections']}
      onClose={onClose}
    />
  )
}
