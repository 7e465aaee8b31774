// tools/campaign_db.h -- a campaign in a file, which grows by whole blocks. The one owner of
// SQLite.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tools/campaign.h"

namespace memverify {

/// The file cannot be used: it is not there, no campaign, another one, or the disk is full. The
/// message is for the user.
struct CampaignFileError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class CampaignFile {
 public:
  enum class Open { kCreate, kExisting };
  /// Throws CampaignFileError, as does everything here.
  CampaignFile(const std::string& path, Open how);
  CampaignFile(CampaignFile&&) noexcept;
  CampaignFile& operator=(CampaignFile&&) noexcept;
  ~CampaignFile();

  /// Says what the campaign is; of a file that has one already it must be the same.
  void begin(const CampaignInfo& info, const Shard& shard);
  CampaignInfo info() const;
  Shard shard() const;
  /// All of the block or nothing.
  void add(const BlockResult& block);
  CampaignTotals totals() const;

  /// Fills a new file at `output` with what shards of one campaign found. Refuses files of
  /// different campaigns, planners or versions, blocks that two of them have and blocks that none
  /// has.
  static void merge(const std::vector<std::string>& inputs, const std::string& output);

 private:
  struct Database;
  std::unique_ptr<Database> database_;
};

/// The version of memverify with a fingerprint of the running executable.
std::string campaign_version(const std::string& version);

}  // namespace memverify
