export default function ModelsPage() {
  return null;
}
