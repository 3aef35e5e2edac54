export default function DatasetsPage() {
  return null;
}
